import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect } from "chai";
import { awake } from "../../src/timing/awake-clock.ts";
import { AwakeTimer } from "../../src/timing/awake-timer.ts";

/** Keeps the thread from running; `lostMs` is longer than the clock takes for ordinary. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const lostMs = 1300;

describe("AwakeTimer", () => {
  it("an awake timer expires after its time", async () => {
    await new Promise<void>((resolve) => void new AwakeTimer(resolve, 1));
  });

  it("an awake timer that was cleared does not expire, even when it was already due", async () => {
    const expired: string[] = [];
    new AwakeTimer(() => expired.push("cleared"), 1).clear();
    const due = new AwakeTimer(() => expired.push("due"), 1);
    setTimeout(() => due.clear(), 1);
    // Both are late now: the one that was set first looks at what has arrived, and then the other comes.
    pause(50);
    await new Promise<void>((resolve) => void new AwakeTimer(resolve, 5));
    expect(expired).to.deep.equal([]);
  });

  for (const [name, ms] of [
    ["that was due in the middle of it", 900],
    ["that is due soon after", 1350],
  ] as const) {
    it(`a timer ${name} leaves a peer its time after a pause`, async () => {
      const unwatch = awake.watch();
      // The look before this one may have seen the clock of another test.
      awake.look();
      const server = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
      await once(server, "listening");
      const client = connect((server.address() as { port: number }).port, "127.0.0.1");
      await once(client, "connect");
      const seen: string[] = [];
      const lostBefore = awake.lostMs;
      // Both ends are in this thread: neither had time to answer.
      client.on("data", () => seen.push("answer"));
      const timer = new Promise<void>((resolve) => {
        void new AwakeTimer(() => {
          seen.push("expired");
          resolve();
        }, ms);
      });
      client.write("question");
      pause(lostMs);
      await timer;
      expect(seen).to.deep.equal(["answer", "expired"]);
      expect(awake.lostMs - lostBefore).to.be.at.least(700);
      client.destroy();
      server.close();
      unwatch();
    });
  }
});
