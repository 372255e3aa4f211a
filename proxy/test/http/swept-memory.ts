import { ResponseMemory } from "../../src/http/response-memory.ts";

/** A response memory that also reports when its front has checked all time limits. */
export class SweptMemory extends ResponseMemory {
  private sweeps = 0;

  /** Called as the last step of each sweep of a front, and otherwise only if the memory is limited. */
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
