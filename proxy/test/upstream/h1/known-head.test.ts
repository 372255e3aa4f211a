import { expect } from "chai";
import { KnownHead } from "../../../src/upstream/h1/known-head.ts";
import { parseResponseHead, type ParsedResponseHead } from "../../../src/upstream/h1/response-head.ts";
import { listed } from "../../message/listed.ts";

const head = "HTTP/1.1 404 Not Found\r\nConnection: x-a\r\nX-A: 1\r\nX-B: 2\r\nContent-Length: 007\r\n\r\n";
const body = "7 bytes";

const parsed = (text: string): ParsedResponseHead => {
  const result = parseResponseHead(text, 0, text.length);
  if (!result.ok) throw new Error(result.error);
  return result.value;
};

/** A KnownHead after each of these heads was parsed. */
function after(...heads: readonly string[]): KnownHead {
  const known = new KnownHead();
  for (const each of heads) known.note(each + body, each.length);
  return known;
}

const find = (known: KnownHead, text = head): ParsedResponseHead | undefined => {
  const found = known.find(Buffer.from(`...${text}${body}`, "latin1"), 3);
  expect(found?.octets ?? text.length).to.equal(text.length);
  return found?.head;
};

describe("KnownHead", () => {
  it("a response head that has come twice is found as it is parsed", () => {
    expect(find(after())).to.equal(undefined);
    expect(find(after(head))).to.equal(undefined);
    const found = find(after(head, head));
    expect(found && listed(found)).to.deep.equal(listed(parsed(head)));
  });

  it("a known head keeps its fields when those of a head that was found by it are changed", () => {
    const known = after(head, head);
    const first = find(known);
    first?.headers.remove(new Set(["x-b"]));
    first?.headers.append("X-C", "3");
    first?.headers.linesText();
    const second = find(known);
    expect(second && listed(second)).to.deep.equal(listed(parsed(head)));
    expect(second?.headers.linesText()).to.equal(parsed(head).headers.linesText());
  });

  it("a head that differs in one octet, or is longer, is another one", () => {
    const known = after(head, head);
    expect(find(known, head.replace("X-B: 2", "X-B: 3"))).to.equal(undefined);
    expect(find(known, head.replace("X-B: 2", "X-B: 22"))).to.equal(undefined);
  });

  it("a head of which a part has come is not found", () => {
    expect(after(head, head).find(Buffer.from(head.slice(0, -1), "latin1"), 0)).to.equal(undefined);
  });

  it("a long head is not kept", () => {
    const long = `HTTP/1.1 200 OK\r\nX-A: ${"x".repeat(1024)}\r\n\r\n`;
    expect(find(after(long, long), long)).to.equal(undefined);
  });
});
