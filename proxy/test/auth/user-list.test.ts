import { createHash } from "node:crypto";
import { expect } from "chai";
import type { PasswordVerdict } from "../../src/auth/password-checker.ts";
import { createUserList, type UserVerdict } from "../../src/auth/user-list.ts";
import { createVerifiedCache } from "../../src/auth/verified-cache.ts";

const wanted = (): boolean => true;
const sha = (password: string): string => `{SHA}${createHash("sha1").update(password).digest("base64")}`;

type Users = readonly (readonly [name: string, password: string])[];

/** A list over hashes that are the password in brackets; the test decides when comparisons are answered. */
function rig(users: Users, sha1: Users = []) {
  const clock = { nowMs: 1_000 };
  const compared: string[] = [];
  const held: (() => void)[] = [];
  const state = { hold: false, busy: false };
  const passwords = {
    compare: (password: string, hash: string): Promise<PasswordVerdict> => {
      compared.push(hash);
      const verdict = state.busy ? "busy" : hash === `[${password}]` ? "match" : "mismatch";
      if (!state.hold) return Promise.resolve(verdict);
      return new Promise((resolve) => held.push(() => resolve(verdict)));
    },
    close() {},
  };
  const verified = createVerifiedCache<true>(100);
  const make = (list: Users) =>
    createUserList(
      {
        users: [
          ...list.map(([name, password]) => ({ name, hash: `[${password}]` })),
          ...sha1.map(([name, password]) => ({ name, hash: sha(password) })),
        ],
      },
      { passwords, owner: "shop", verified, now: () => clock.nowMs },
    );
  const list = make(users);
  const check = (name: string, password: string): UserVerdict | Promise<UserVerdict> =>
    list.check({ name, password }, wanted);
  return { list, make, check, compared, clock, state, release: () => held.splice(0).forEach((go) => go()) };
}

describe("a list of users", () => {
  it("a user list accepts the password of the user and no other one", async () => {
    const { check } = rig([
      ["alice", "a"],
      ["bob", "b"],
    ]);
    expect(await check("alice", "a")).to.equal("accepted");
    expect(await check("alice", "b")).to.equal("wrong-password");
    expect(await check("bob", "b")).to.equal("accepted");
    expect(await check("carol", "a")).to.equal("unknown-user");
    expect(await check("", "")).to.equal("unknown-user");
    expect(await check("__proto__", "a")).to.equal("unknown-user");
  });

  it("a user list compares SHA-1 hashes without the thread", async () => {
    const { check, compared } = rig([], [["dave", "d"]]);
    expect(await check("dave", "d")).to.equal("accepted");
    expect(await check("dave", "e")).to.equal("wrong-password");
    expect(compared).to.deep.equal([]);
  });

  it("a user list remembers accepted credentials for 60 seconds, and refused ones not at all", async () => {
    const { check, compared, clock } = rig([["alice", "a"]]);
    await check("alice", "a");
    clock.nowMs += 59_999;
    expect(check("alice", "a")).to.equal("accepted");
    expect(compared).to.have.lengthOf(1);
    clock.nowMs += 1;
    expect(await check("alice", "a")).to.equal("accepted");
    expect(compared).to.have.lengthOf(2);
    await check("alice", "x");
    await check("alice", "x");
    expect(compared).to.have.lengthOf(4);
  });

  it("a user list keeps pairs of name and password apart that join to the same text", async () => {
    const { check } = rig([["a", "b:c"]]);
    expect(await check("a", "b:c")).to.equal("accepted");
    expect(await check("a:b", "c")).to.equal("unknown-user");
  });

  it("a user list makes one comparison for an unknown name, with the same hash each time", async () => {
    const { check, compared } = rig([
      ["alice", "a"],
      ["bob", "b"],
      ["carol", "c"],
    ]);
    for (const password of ["a", "b", "c"]) expect(await check("nobody", password)).to.equal("unknown-user");
    expect(compared).to.have.lengthOf(3);
    expect(new Set(compared).size).to.equal(1);
  });

  it("a user list makes one comparison for the same credentials on many connections", async () => {
    const { check, compared, state, release } = rig([["alice", "a"]]);
    state.hold = true;
    const verdicts = Array.from({ length: 3 }, async () => check("alice", "a"));
    release();
    expect(await Promise.all(verdicts)).to.deep.equal(["accepted", "accepted", "accepted"]);
    expect(compared).to.have.lengthOf(1);
  });

  it("a user list answers busy when the check could not be made, and remembers nothing of it", async () => {
    const { check, state } = rig([["alice", "a"]]);
    state.busy = true;
    expect(await check("alice", "a")).to.equal("busy");
    state.busy = false;
    expect(await check("alice", "a")).to.equal("accepted");
  });

  it("a user list shares no remembered credentials with the list that replaces it", async () => {
    const { list, make, check, compared } = rig([["alice", "a"]]);
    await check("alice", "a");
    const next = make([["alice", "new"]]);
    list.forget();
    expect(await next.check({ name: "alice", password: "a" }, wanted)).to.equal("wrong-password");
    expect(compared).to.have.lengthOf(2);
  });
});

describe("the cache of what is verified", () => {
  it("the cache of verified credentials evicts its oldest entry when it is full", () => {
    const cache = createVerifiedCache<number>(2);
    for (const [key, value] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const)
      cache.set(key, value, 10);
    expect(["a", "b", "c"].map((key) => cache.get(key, 0))).to.deep.equal([undefined, 2, 3]);
  });
});
