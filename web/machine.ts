// SPDX-License-Identifier: Apache-2.0
// The daemon that served this page: what it can do, starting a run there, reading its trace as it grows.
import type { Problem } from './core.js';
import { StreamParser } from './sse.js';

export interface EngineInfo {
  name: string;
  summary: string;
  rank_count_max: number;
  missing: string | null;
}

export interface Failure {
  words: string;
  token: boolean; // a valid token would help
}

const tokenKey = 'ringscope-token';
const api = 'api/v1';

// A type guard for what came over the network.
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export function rememberToken(token: string): void {
  try {
    sessionStorage.setItem(tokenKey, token);
  } catch {
    kept = token; // storage is switched off: until the page goes
  }
}
let kept = '';

function token(): string {
  try {
    return sessionStorage.getItem(tokenKey) ?? kept;
  } catch {
    return kept;
  }
}

// Null when nobody answers, as on a static host.
export async function readThreadsEngine(): Promise<EngineInfo | null> {
  try {
    const response = await fetch(`${api}/info`);
    const info: unknown = response.ok ? await response.json() : null;
    const engines = isRecord(info) && Array.isArray(info['engines']) ? (info['engines'] as unknown[]) : [];
    for (const engine of engines) {
      if (isRecord(engine) && engine['name'] === 'threads') return engine as unknown as EngineInfo;
    }
  } catch {
    // No daemon.
  }
  return null;
}

async function failureOf(response: Response): Promise<Failure> {
  const body: unknown = await response.json().catch(() => null);
  const title = isRecord(body) && typeof body['title'] === 'string' ? (body as unknown as Problem).title : '';
  if (response.status === 401) {
    return { words: 'The daemon wants its token: it is in the address that “ringscope serve” printed when it started.', token: true };
  }
  return { words: title || `The daemon answered ${response.status}.`, token: false };
}

// The new run's id.
export async function startRun(line: string, stop: AbortSignal): Promise<{ id: string } | Failure> {
  try {
    const response = await fetch(`${api}/runs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token()}` },
      body: JSON.stringify({ run: line }),
      signal: stop,
    });
    if (!response.ok) return await failureOf(response);
    const body: unknown = await response.json();
    if (isRecord(body) && typeof body['id'] === 'string') return { id: body['id'] };
    return { words: 'The daemon answered something this page does not understand.', token: false };
  } catch {
    return { words: 'The daemon does not answer any more.', token: false };
  }
}

// Hands over the trace's text as it comes. Null when the daemon has sent all of it.
export async function followRun(id: string, onText: (text: string) => void, stop: AbortSignal): Promise<Failure | null> {
  try {
    const response = await fetch(`${api}/runs/${encodeURIComponent(id)}/events`, { signal: stop });
    if (response.status === 404) {
      return { words: 'This daemon does not know that run. It keeps runs only until it ends.', token: false };
    }
    if (!response.ok || !response.body) return await failureOf(response);
    const parser = new StreamParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { words: 'The connection to the daemon broke before the run was over.', token: false };
      let text = '';
      for (const event of parser.push(value)) {
        if (event.name === 'end') {
          if (text) onText(text);
          return null;
        }
        if (event.name === 'message') text += `${event.data}\n`;
      }
      if (text) onText(text);
    }
  } catch {
    return stop.aborted ? null : { words: 'The connection to the daemon broke.', token: false };
  }
}
