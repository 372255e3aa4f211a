import { ListenerHoldings, type Origin } from "../fairness/listener-holdings.ts";

/** What holds a place: a session, which ends when it has to give way. */
export type PlaceHolder = { giveWay(): void };

/** Sessions of all listeners of a proxy together, however many descriptors there are: what their memory may take. */
const maxOfAll = 40_000;
/** Sessions of one listener of a proxy. */
const maxOfListener = 20_000;
/** UDP never takes more than this share of the descriptors, so that connections get some while it is flooded. */
const shareOfDescriptors = 1 / 2;

export type UdpBounds = { readonly all: number; readonly ofListener: number };

/** How many sessions a worker may have: what it gets of the proxy's. `descriptors` are those that the process may open. */
export function udpBoundsOf(descriptors: number, shareOf: (total: number) => number): UdpBounds {
  const all = Math.min(maxOfAll, Math.floor(descriptors * shareOfDescriptors));
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
   * Whether there is a place for one more. Where there is none, the listener with the most sessions gives up one for a
   * listener that would have fewer, and within a listener the network with the most for one that would have fewer.
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
  holder?.giveWay();
  return holder !== undefined;
}
