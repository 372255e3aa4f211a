/** Connections whose streams have something to send at the end of this turn. */
let waiting: { flush(): void }[] = [];

/**
 * Has a connection send when everything that this turn of the event loop brings has been dealt with, so that what many streams
 * have to say leaves in one write. One immediate serves all connections of the thread.
 */
export function flushLater(connection: { flush(): void }): void {
  if (waiting.push(connection) === 1) setImmediate(flushAll);
}

function flushAll(): void {
  const connections = waiting;
  waiting = [];
  for (const connection of connections) connection.flush();
}
