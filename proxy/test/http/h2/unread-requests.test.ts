import { expect } from "chai";
import { UnreadRequests } from "../../../src/http/h2/node/unread-requests.ts";

describe("requests over HTTP/2 that were never seen", () => {
  it("UnreadRequests counts the requests missing between two that were read", () => {
    const unread = new UnreadRequests();
    expect(unread.seen(1)).to.equal(0);
    expect(unread.seen(3)).to.equal(0);
    expect(unread.seen(9)).to.equal(2);
    expect(unread.seen(11)).to.equal(0);
  });

  it("UnreadRequests counts no request before the first one, since some clients begin with stream 3", () => {
    expect(new UnreadRequests().seen(3)).to.equal(0);
  });

  it("UnreadRequests counts requests after the last one that was read, once", () => {
    const unread = new UnreadRequests();
    unread.seen(1);
    expect(unread.end(5)).to.equal(2);
    expect(unread.end(5)).to.equal(0);
  });

  it("UnreadRequests counts at least one request on a connection without any other", () => {
    expect(new UnreadRequests().end(7)).to.equal(1);
    expect(new UnreadRequests().end(0)).to.equal(0);
  });

  it("UnreadRequests bounds its count, since stream numbers cost a client nothing", () => {
    const unread = new UnreadRequests();
    unread.seen(1);
    expect(unread.seen(2 ** 31 - 1)).to.equal(100);
  });
});
