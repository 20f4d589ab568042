// SPDX-License-Identifier: Apache-2.0
// What a person has to know: notices that can be put away, words for screen readers, and the end.
import { element, icon, setText } from './dom.js';

const noticeLengthMax = 600;

export function notify(text: string): void {
  const notice = document.createElement('div');
  notice.className = 'notice';
  notice.setAttribute('role', 'status');
  const words = document.createElement('p');
  words.textContent = text.length > noticeLengthMax ? `${text.slice(0, noticeLengthMax)} …` : text;
  const close = document.createElement('button');
  close.type = 'button';
  close.className = 'button icon bare';
  close.setAttribute('aria-label', 'Dismiss');
  close.append(icon('close'));
  close.addEventListener('click', () => notice.remove());
  notice.append(words, close);
  element('notices').append(notice);
}

export function clearNotices(): void {
  element('notices').replaceChildren();
}

let announcedAt = 0;
let waiting = 0;

// At most one message a second; of several the last one counts.
export function announce(text: string): void {
  window.clearTimeout(waiting);
  const wait = Math.max(0, announcedAt + 1000 - performance.now());
  waiting = window.setTimeout(() => {
    announcedAt = performance.now();
    setText(element('announce'), text);
  }, wait);
}

// The C++ has ended; only a new page helps.
export function fail(reason: string): void {
  if (!element('failure').hidden) return; // what follows from the first failure explains nothing
  setText(element('failure-words'), reason);
  element('failure').hidden = false;
  element('reload').addEventListener('click', () => location.reload());
  element('reload').focus();
}
