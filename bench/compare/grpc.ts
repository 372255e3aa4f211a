/** Messages that the backend sends for one call of the method `Stream` (native/grpc-backend.c). */
export const streamLength = 100;
