import { isIP } from "node:net";

/** In the place of name resolution, for sockets that are only ever given addresses. */
export const noLookup = (
  address: string,
  _: unknown,
  done: (error: null, address: string, family: number) => void,
): void => done(null, address, isIP(address));
