// SPDX-License-Identifier: Apache-2.0
// Sliders over many decades: which values they stop at, and how far along a value lies.

export interface Stop {
  value: number; // in the core's unit: bytes, bytes per second, picoseconds
  text: string; // as the core reads it
}

const tenths = [1, 1.2, 1.6, 2, 2.5, 3, 4, 5, 6, 8];

function decades(units: { name: string; value: number }[], firstExponent: number, lastExponent: number): Stop[] {
  const stops: Stop[] = [];
  for (let exponent = firstExponent; exponent <= lastExponent; ++exponent) {
    for (const digit of tenths) {
      const value = Math.round(digit * 10 ** exponent);
      const unit = units.find((candidate) => value >= candidate.value) ?? units[units.length - 1]!;
      stops.push({ value, text: `${Number((value / unit.value).toPrecision(3))}${unit.name}` });
      if (exponent === lastExponent) break;
    }
  }
  return stops;
}

function powersOfTwo(first: number, last: number): Stop[] {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const stops: Stop[] = [];
  for (let power = first; power <= last; ++power) {
    stops.push({ value: 2 ** power, text: `${2 ** (power % 10)}${units[Math.floor(power / 10)]}` });
  }
  return stops;
}

export const byteStops = powersOfTwo(8, 36);
export const bandwidthStops = decades(
  [
    { name: 'TB/s', value: 1e12 },
    { name: 'GB/s', value: 1e9 },
    { name: 'MB/s', value: 1e6 },
  ],
  8,
  12,
);
export const latencyStops = decades(
  [
    { name: 'ms', value: 1e9 },
    { name: 'us', value: 1e6 },
    { name: 'ns', value: 1e3 },
  ],
  4,
  9,
);

// Where on the slider a value lies, also one between two stops; outside values stick to the ends.
export function positionOf(stops: readonly Stop[], value: number): number {
  const next = stops.findIndex((stop) => stop.value >= value);
  if (next < 0) return stops.length - 1;
  if (next === 0) return 0;
  const low = stops[next - 1]!.value;
  const high = stops[next]!.value;
  return next - 1 + Math.log(value / low) / Math.log(high / low);
}
