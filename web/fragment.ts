// SPDX-License-Identifier: Apache-2.0
// The part of the address behind '#': a shared run, and the daemon's token on first opening.
//
//     #v1&RUNLINE&trace=HASH    a simulation; the hash of the trace that it gave when it was shared
//     #v1&RUNLINE&open=RUNID    a measured run that the same daemon keeps
//     #token=HEX                as printed by the daemon
//
// The run line itself is read by the core. Nothing here throws, whatever the text.

export const fragmentLengthMax = 65536;

export interface Link {
  line: string | null; // null: no run in it
  trace: string | null;
  open: string | null;
  token: string | null;
  problem: string | null; // in words, when it cannot be what somebody shared
}

// Some mail programs encode what needs no encoding.
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function readFragment(fragment: string): Link {
  const link: Link = { line: null, trace: null, open: null, token: null, problem: null };
  if (fragment.length > fragmentLengthMax) {
    link.problem = `The link is ${fragment.length} characters long; at most ${fragmentLengthMax} are allowed.`;
    return link;
  }
  const rest: string[] = [];
  for (const part of decoded(fragment.replace(/^#/, '')).split('&')) {
    if (part.startsWith('token=')) link.token = part.slice(6);
    else if (part.startsWith('trace=')) link.trace = part.slice(6);
    else if (part.startsWith('open=')) link.open = part.slice(5);
    else if (part !== '') rest.push(part);
  }
  if (link.token !== null && !/^[0-9a-fA-F]{1,256}$/.test(link.token)) {
    link.token = null;
    link.problem = 'The token in the address is damaged; open the address that the daemon printed once more.';
  }
  if (rest.length === 0) {
    if (link.trace !== null || link.open !== null) link.problem = 'The link holds no run.';
    return link;
  }
  if (rest[0] !== 'v1') {
    link.problem = 'The link is none of this page: it does not begin with #v1&.';
    return link;
  }
  link.line = rest.slice(1).join('&');
  link.problem = findCut(link);
  return link;
}

// A link that lost its end still reads well up to there: only what stands at its end can tell.
function findCut(link: Link): string | null {
  if (link.open !== null) {
    return /^[0-9A-Za-z_-]{1,64}$/.test(link.open) ? null : 'The link names no run that a daemon could have kept.';
  }
  if (link.trace === null) return 'The link has no trace hash at its end. It may have been cut; compare before you trust it.';
  if (!/^[0-9a-f]{16}$/.test(link.trace)) {
    return 'The link was cut or altered: its trace hash is not 16 hexadecimal digits. Compare before you trust it.';
  }
  return null;
}

export function simulationFragment(line: string, hash: string): string {
  return `#v1&${line}&trace=${hash}`;
}

export function measuredFragment(line: string, runId: string): string {
  return `#v1&${line}&open=${runId}`;
}
