import { ListenerHoldings, type Origin } from "../fairness/listener-holdings.ts";

/** The holder of a place: a session, which ends when it is evicted. */
export type PlaceHolder = { evict(): void };

/** The most sessions of all listeners of a proxy together, even with more descriptors; it bounds their memory. */
const maxOfAll = 40_000;
/** The most sessions of one listener of a proxy. */
const maxOfListener = 20_000;
export type UdpBounds = { readonly all: number; readonly ofListener: number };

/** Returns the bounds of one worker, as its share of the proxy's. `descriptors` is the number that sessions may use. */
export function udpBoundsOf(descriptors: number, shareOf: (total: number) => number): UdpBounds {
  const all = Math.min(maxOfAll, descriptors);
  return { all: shareOf(all), ofListener: shareOf(Math.min(maxOfListener, all)) };
}

/** The places that the UDP sessions of all listeners of a worker share (docs/features/l4.md, "UDP"). */
export class UdpPlaces {
  private readonly bounds: UdpBounds;
  private readonly taken = new ListenerHoldings<PlaceHolder>();

  constructor(bounds: UdpBounds) {
    this.bounds = bounds;
  }

  /**
   * Makes room for one more session; returns false if that is not possible. A session of the listener with the most is
   * evicted for a listener that would have fewer. Within a listener, the same holds for networks.
   */
  makeRoom(origin: Origin): boolean {
    const { all, ofListener } = this.bounds;
    if (this.taken.countOf(origin.listener) >= ofListener)
      return end(this.taken.evictionWithinListener(origin));
    if (this.taken.size >= all) return end(this.taken.evictionFor(origin));
    return true;
  }

  add(origin: Origin, holder: PlaceHolder): void {
    this.taken.add(origin, holder);
  }

  delete(origin: Origin, holder: PlaceHolder): void {
    this.taken.delete(origin, holder);
  }
}

function end(holder: PlaceHolder | undefined): boolean {
  holder?.evict();
  return holder !== undefined;
}
