import { ResponseMemory } from "../../src/http/response-memory.ts";

/** A response memory without a bound, which shows when its front has looked at all time limits. */
export class SweptMemory extends ResponseMemory {
  private sweeps = 0;

  /** The last step of each sweep of a front; nothing else calls it while the memory has no bound. */
  override relieve(): void {
    super.relieve();
    this.sweeps++;
  }

  /** Resolves when the front has made a whole sweep that began after the call. */
  async swept(): Promise<void> {
    const { sweeps } = this;
    while (this.sweeps === sweeps) await new Promise((resolve) => setImmediate(resolve));
  }
}
