/** Subtracted from the timeout that a peer announces: a request may be on its way when the peer closes. */
const marginMs = 1000;
const maxSeconds = 86_400;

const timeoutParameter = /(?:^|[,;])[\t ]*timeout[\t ]*=[\t ]*"?(\d+)/i;
const maxParameter = /(?:^|[,;])[\t ]*max[\t ]*=[\t ]*"?(\d+)/i;

/**
 * How long a connection may be idle and still take a request, in milliseconds, by the Keep-Alive field of its last
 * response (RFC 2068 19.7.1.1): the `timeout` less a second, or less half of it if it is shorter than two. 0: not at
 * all, for `timeout=0` and `max=0`. Undefined: the field does not say.
 */
export function announcedIdleMs(field: string): number | undefined {
  if (Number(maxParameter.exec(field)?.[1] ?? 1) === 0) return 0;
  const seconds = timeoutParameter.exec(field)?.[1];
  if (seconds === undefined) return undefined;
  const timeoutMs = Math.min(Number(seconds), maxSeconds) * 1000;
  return timeoutMs - Math.min(marginMs, timeoutMs / 2);
}
