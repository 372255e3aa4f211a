/** Counts of what a data plane holds for requests. They are private to it, and must be 0 when no request is left. */
import { Socket } from "node:net";
import { FairPlaces } from "../../src/auth/fair-places.ts";
import { FairTurns } from "../../src/auth/fair-turns.ts";
import { ActiveExchanges } from "../../src/http/active-exchanges.ts";
import { HeldBody } from "../../src/http/held-body.ts";
import { Mirrors } from "../../src/http/mirrors.ts";

/** Remembers every object on which a method is called. */
function owners(prototype: object, method: string): ReadonlySet<object> {
  const seen = new Set<object>();
  const original = Reflect.get(prototype, method) as (...given: unknown[]) => unknown;
  Reflect.set(prototype, method, function (this: object, ...given: unknown[]) {
    seen.add(this);
    return original.apply(this, given);
  });
  return seen;
}

const sumOf = (objects: Iterable<object>, field: string): number =>
  [...objects].reduce((sum, object) => sum + Number(Reflect.get(object, field)), 0);

/**
 * Must be called before the first data plane is created. `turns` is the number of token checks that each of them may
 * run simultaneously.
 */
export function watchHeld(turns: number): () => Readonly<Record<string, number>> {
  const exchanges = owners(ActiveExchanges.prototype, "add");
  const places = owners(FairPlaces.prototype, "take");
  const queues = owners(FairTurns.prototype, "run");
  const mirrors = owners(Mirrors.prototype, "copy");
  const bodies = owners(HeldBody.prototype, "collect");
  return () => ({
    "active exchanges": sumOf(exchanges, "size"),
    "questions to authorization services": sumOf(places, "taken"),
    "checks of tokens": queues.size * turns - sumOf(queues, "free"),
    "copies to mirrors": sumOf(mirrors, "active"),
    "bytes of bodies": sumOf(
      new Set([...bodies].map((body) => Reflect.get(body, "memory") as object)),
      "heldBytes",
    ),
  });
}

type Handles = { _getActiveHandles(): readonly unknown[] };
type Inner = { readonly _handle?: { readonly reading?: boolean } | null };

/** Node's sockets on these local ports that are open, as far as it matters why they are: for messages of failed tests. */
export const socketsOn = (ports: readonly number[]): readonly object[] =>
  (process as unknown as Handles)
    ._getActiveHandles()
    .filter((one) => one instanceof Socket)
    .filter(({ localPort }) => localPort !== undefined && ports.includes(localPort))
    .map((socket) => ({
      kind: socket.constructor.name,
      port: socket.localPort,
      reading: (socket as unknown as Inner)._handle?.reading,
      flowing: socket.readableFlowing,
      unreadBytes: socket.readableLength,
      bytesRead: socket.bytesRead,
      bytesWritten: socket.bytesWritten,
      unwrittenBytes: socket.writableLength,
      ended: socket.readableEnded,
      finished: socket.writableFinished,
      listeners: socket.eventNames().map((name) => `${String(name)} ${socket.listenerCount(name)}`),
    }));
