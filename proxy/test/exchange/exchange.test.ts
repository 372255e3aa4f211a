import { expect } from "chai";
import { exchange } from "../filters/support.ts";

describe("Exchange", () => {
  it("the target for the backend is the received text until a filter changes path or query", () => {
    const request = exchange();
    request.setPath("/a", "?b=1", "/a?b=1");
    expect(request.target).to.equal("/a?b=1");
    request.path = "/c";
    expect(request.target).to.equal("/c?b=1");
    request.query = "";
    expect(request.target).to.equal("/c");
    request.path = "/a";
    expect(request.target).to.equal("/a");
    request.query = "?b=1";
    expect(request.target).to.equal("/a?b=1");
  });

  it("the target for the backend is put together where the received text was another one", () => {
    const request = exchange();
    request.setPath("/a", "?b=1", "/x?y");
    request.setPath("/b", "");
    expect([request.target, request.matchedPath]).to.deep.equal(["/b", "/b"]);
  });
});
