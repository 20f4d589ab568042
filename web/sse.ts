// SPDX-License-Identifier: Apache-2.0
// Server-sent events, from text in any split (WHATWG HTML, 9.2.6).

export interface StreamEvent {
  name: string; // "message" when the server gave none
  data: string;
}

export class StreamParser {
  private rest = '';
  private name = '';
  private data: string[] = [];

  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (this.data.length > 0) events.push({ name: this.name || 'message', data: this.data.join('\n') });
        this.data = [];
        this.name = '';
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'data') this.data.push(value);
      else if (field === 'event') this.name = value;
    }
    return events;
  }
}
