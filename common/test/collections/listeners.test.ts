import { expect } from "chai";
import { createListeners } from "../../src/collections/listeners.ts";

describe("listeners", () => {
  it("listeners hear what they are notified of until they leave", () => {
    const listeners = createListeners<[name: string, count: number]>();
    const heard: string[] = [];
    const leave = listeners.subscribe((name, count) => heard.push(`first ${name} ${count}`));
    listeners.subscribe((name) => heard.push(`second ${name}`));
    listeners.notify("a", 1);
    leave();
    leave();
    listeners.notify("b", 2);
    expect(heard).to.deep.equal(["first a 1", "second a", "second b"]);
  });

  it("a function that subscribes twice is called once", () => {
    const listeners = createListeners();
    let calls = 0;
    const listener = (): void => void calls++;
    listeners.subscribe(listener);
    const leave = listeners.subscribe(listener);
    listeners.notify();
    expect(calls).to.equal(1);
    expect(listeners.isEmpty).to.equal(false);
    leave();
    expect(listeners.isEmpty).to.equal(true);
  });

  it("a listener that leaves during a notification is not called any more, and one that comes is not called yet", () => {
    const listeners = createListeners();
    const heard: string[] = [];
    const leave = { second: (): void => undefined };
    listeners.subscribe(() => {
      heard.push("first");
      leave.second();
      listeners.subscribe(() => heard.push("late"));
    });
    leave.second = listeners.subscribe(() => heard.push("second"));
    listeners.notify();
    expect(heard).to.deep.equal(["first"]);
  });
});
