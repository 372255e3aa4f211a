let text = "";
let second = -1;

/** Returns the current value for a Date field (RFC 9110 6.6.1), formatted once a second. */
export function dateNow(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1000).toUTCString();
  }
  return text;
}
