import { expect } from "chai";
import { UnreadRequests } from "../../../src/http/h2/unread-requests.ts";

describe("requests over HTTP/2 that were never seen", () => {
  it("are those missing between two that were", () => {
    const unread = new UnreadRequests();
    expect(unread.seen(1)).to.equal(0);
    expect(unread.seen(3)).to.equal(0);
    expect(unread.seen(9)).to.equal(2);
    expect(unread.seen(11)).to.equal(0);
  });

  it("are not those before the first: some clients begin with 3", () => {
    expect(new UnreadRequests().seen(3)).to.equal(0);
  });

  it("are those after the last one, too", () => {
    const unread = new UnreadRequests();
    unread.seen(1);
    expect(unread.end(5)).to.equal(2);
    expect(unread.end(5)).to.equal(0);
  });

  it("are one at least where there was no other", () => {
    expect(new UnreadRequests().end(7)).to.equal(1);
    expect(new UnreadRequests().end(0)).to.equal(0);
  });

  it("are bounded, since numbers cost a client nothing", () => {
    const unread = new UnreadRequests();
    unread.seen(1);
    expect(unread.seen(2 ** 31 - 1)).to.equal(100);
  });
});
