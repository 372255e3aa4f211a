const { pid } = process;

/**
 * An address of loopback that no other process of the tests uses; Linux has all of 127.0.0.0/8. A port that was free on
 * it a moment ago still is. On 127.0.0.1 another process may have got it since then, and the local port of a connection
 * that was closed in the last minute cannot be bound.
 */
export const ownLoopback = `127.${64 + (pid >> 16)}.${(pid >> 8) & 255}.${pid & 255}`;
