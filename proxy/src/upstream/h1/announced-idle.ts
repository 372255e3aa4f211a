/** Subtracted from the timeout that a peer announces, because a request can be on its way when the peer closes. */
const marginMs = 1000;
const maxSeconds = 86_400;

const timeoutParameter = /(?:^|[,;])[\t ]*timeout[\t ]*=[\t ]*"?(\d+)/i;
const maxParameter = /(?:^|[,;])[\t ]*max[\t ]*=[\t ]*"?(\d+)/i;

/**
 * Returns how long a connection can be idle and still be reused, in milliseconds, by the Keep-Alive field of its last
 * response (RFC 2068 19.7.1.1): the `timeout` less a second, or half of a `timeout` under two seconds. The result is 0
 * (no reuse) for `timeout=0` and `max=0`, and undefined if the field sets no timeout.
 */
export function announcedIdleMs(field: string): number | undefined {
  if (Number(maxParameter.exec(field)?.[1] ?? 1) === 0) return 0;
  const seconds = timeoutParameter.exec(field)?.[1];
  if (seconds === undefined) return undefined;
  const timeoutMs = Math.min(Number(seconds), maxSeconds) * 1000;
  return timeoutMs - Math.min(marginMs, timeoutMs / 2);
}
