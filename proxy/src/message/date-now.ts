let text = "";
let second = -1;

/** The value of the Date field of now (RFC 9110 6.6.1), put together once a second. */
export function dateNow(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1000).toUTCString();
  }
  return text;
}
