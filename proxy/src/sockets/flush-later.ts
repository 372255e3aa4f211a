/** Those that have something to send at the end of this turn. */
let waiting: { flush(): void }[] = [];

/**
 * Has a connection, or a message, send when everything that this turn of the event loop brings has been dealt with, so that what many
 * pieces or streams have to say leaves in one write. One immediate serves all of the thread.
 */
export function flushLater(sender: { flush(): void }): void {
  if (waiting.push(sender) === 1) setImmediate(flushAll);
}

function flushAll(): void {
  const senders = waiting;
  waiting = [];
  for (const sender of senders) sender.flush();
}
