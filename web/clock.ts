// SPDX-License-Identifier: Apache-2.0
// A running time that does not flicker: one unit and one number of digits for the whole run.

const units = [
  { name: 's', ps: 1e12 },
  { name: 'ms', ps: 1e9 },
  { name: 'µs', ps: 1e6 },
  { name: 'ns', ps: 1e3 },
  { name: 'ps', ps: 1 },
];

export interface Clock {
  now: string; // without its unit
  end: string; // with it
}

export function readClock(nowPs: number, endPs: number): Clock {
  const unit = units.find((candidate) => endPs >= candidate.ps) ?? units[units.length - 1]!;
  const whole = Math.floor(endPs / unit.ps).toString().length;
  const decimals = unit.ps === 1 ? 0 : Math.max(0, 4 - whole);
  // Cut, not rounded: the clock shows its end only at the end.
  const scale = 10 ** decimals;
  const now = Math.floor((nowPs / unit.ps) * scale) / scale;
  const text = nowPs >= endPs ? (endPs / unit.ps).toFixed(decimals) : now.toFixed(decimals);
  return { now: text, end: `${(endPs / unit.ps).toFixed(decimals)} ${unit.name}` };
}

export function speedText(permille: number): string {
  return permille >= 1000 ? `${permille / 1000}×` : `1/${Math.round(1000 / permille)}×`;
}

export function withMicro(text: string): string {
  return text.replace(/ us\b/g, ' µs');
}
