/** Takes an event that needs no answer: an error of a socket or stream whose end is told by another event. */
export const ignore = (): void => undefined;
