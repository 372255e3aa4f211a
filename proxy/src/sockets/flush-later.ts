/** The senders to flush at the end of this turn. */
let waiting: { flush(): void }[] = [];

/**
 * Flushes a connection or a message at the end of this turn of the event loop, so that the data of many pieces or
 * streams is sent in one write. One immediate serves all senders of the thread.
 */
export function flushLater(sender: { flush(): void }): void {
  if (waiting.push(sender) === 1) setImmediate(flushAll);
}

function flushAll(): void {
  const senders = waiting;
  waiting = [];
  for (const sender of senders) sender.flush();
}
