/** The bytes of bodies that wait in a worker, for whatever they wait. */
export class BodyMemory {
  readonly maxBytes: number;
  heldBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }
}
