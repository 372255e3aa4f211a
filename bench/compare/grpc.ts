/** Messages that the backend sends for one call of the method `Stream`. */
export const streamLength = 100;
