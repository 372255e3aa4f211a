let cachedSecond = -1;
let cachedPrefix = "";
let cachedMillisecond = -1;
let cachedText = "";

const milliseconds = Array.from({ length: 1000 }, (_, value) => `${String(value).padStart(3, "0")}Z`);

/** Formats a time in milliseconds since the epoch as RFC 3339 in UTC. Calls within one millisecond share one string. */
export function timestamp(time: number): string {
  if (time === cachedMillisecond) return cachedText;
  const second = Math.floor(time / 1000);
  if (second !== cachedSecond) {
    cachedSecond = second;
    cachedPrefix = new Date(second * 1000).toISOString().slice(0, 20);
  }
  cachedMillisecond = time;
  cachedText = cachedPrefix + (milliseconds[time - second * 1000] ?? "000Z");
  return cachedText;
}
