import { expect } from "chai";
import {
  BreakerTable,
  breakerKey,
  breakerTableBytes,
  Field,
} from "../../../src/upstream/breaker/breaker-table.ts";

const memory = () => new SharedArrayBuffer(breakerTableBytes);
const forgottenMs = 10 * 60_000;

/** Keys whose search begins at one place. */
const crowd = (count: number): readonly bigint[] =>
  Array.from({ length: count }, (_, index) => 7n + (BigInt(index + 1) << 32n));

describe("BreakerTable", () => {
  it("BreakerTable gives a key the same slot in every worker", () => {
    const shared = memory();
    const key = breakerKey("route", "10.0.0.1:80");
    new BreakerTable(shared).slotOf(key, 0)?.set(Field.trips, 42);
    expect(new BreakerTable(shared).slotOf(key, 0)?.get(Field.trips)).to.equal(42);
    expect(new BreakerTable(shared).slotOf(breakerKey("route", "10.0.0.2:80"), 0)?.get(Field.trips)).to.equal(
      0,
    );
  });

  it("BreakerTable separates keys that begin at the same place", () => {
    const table = new BreakerTable(memory());
    for (const [index, key] of crowd(64).entries()) table.slotOf(key, 0)?.set(Field.trips, index);
    expect(crowd(64).map((key) => table.slotOf(key, 0)?.get(Field.trips))).to.deep.equal([
      ...crowd(64).keys(),
    ]);
  });

  it("BreakerTable rejects a key while all places are in use, and reuses a place that has long been unused", () => {
    const table = new BreakerTable(memory());
    const keys = crowd(65);
    const late = keys.at(-1) as bigint;
    const slots = keys.slice(0, -1).map((key) => table.slotOf(key, 0));
    expect(table.slotOf(late, forgottenMs)).to.equal(undefined);
    for (const slot of slots) slot?.set(Field.usedAt, 1_000);
    slots[5]?.set(Field.usedAt, 0);
    slots[5]?.set(Field.trips, 3);
    slots[5]?.set(Field.openUntil, forgottenMs + 10);
    expect(table.slotOf(late, forgottenMs + 1)).to.equal(undefined);
    const taken = table.slotOf(late, forgottenMs + 11);
    expect([taken?.get(Field.trips), taken?.get(Field.usedAt)]).to.deep.equal([0, forgottenMs + 11]);
    slots[5]?.set(Field.trips, 9);
    expect(table.slotOf(late, forgottenMs + 11)?.get(Field.trips)).to.equal(9);
  });
});
