/** Ignores an event: an error of a socket or stream whose end another event reports. */
export const ignore = (): void => undefined;
