import { expect } from "chai";
import fc from "fast-check";
import { RequestHeadParser } from "../../src/http1/request-head-parser.ts";
import { renderHead } from "../../src/http1/response-text.ts";
import type { CheckedFields } from "../../src/message/checked-fields.ts";
import type { HeaderList } from "../../src/message/message.ts";
import { renderRequestHead } from "../../src/upstream/h1/request-head.ts";
import { isFieldName, isFieldValue } from "../../src/upstream/h1/field-lines.ts";
import { fieldTag, judgeField } from "../../src/http2/field-tags.ts";
import { parseResponseHead } from "../../src/upstream/h1/response-head.ts";
import { getRequest } from "../upstream/support.ts";

const name = fc.constantFrom("A", "b", "X-Long-Name", "Cookie", "te", "Accept");
const value = fc.constantFrom("", "1", "two words", "\xe9", "x".repeat(60), "trailers");
const fieldList = fc.array(fc.tuple(name, value), { maxLength: 30 });
/** What may happen to a field between its receipt and its rendering. */
const change = fc.oneof(
  { weight: 6, arbitrary: fc.constant("keep" as const) },
  { weight: 3, arbitrary: fc.constant("drop" as const) },
  { weight: 1, arbitrary: fc.constantFrom("change", "repeat", "swap", "insert") },
);
const changes = fc.array(change, { minLength: 30, maxLength: 30 });

const linesOf = (fields: readonly (readonly [string, string])[]): string =>
  fields.map(([one, other]) => `${one}: ${other}\r\n`).join("");

function changed(received: readonly string[], plan: readonly string[], inserted: string): HeaderList {
  const fields: [string, string][] = [];
  for (let i = 0; i < received.length; i += 2) {
    const field: [string, string] = [received[i] ?? "", received[i + 1] ?? ""];
    switch (plan[i / 2]) {
      case "drop":
        continue;
      case "change":
        fields.push([field[0], `${field[1]}!`]);
        continue;
      case "repeat":
        fields.push(field, field);
        continue;
      case "swap":
        fields.splice(Math.max(0, fields.length - 1), 0, field);
        continue;
      case "insert":
        fields.push(["X-New", inserted], field);
        continue;
      default:
        fields.push(field);
    }
  }
  fields.push(["X-Last", inserted]);
  return fields.flat();
}

function receive(text: string): CheckedFields | undefined {
  const parser = new RequestHeadParser({ maxTargetBytes: 100, maxFieldBytes: 10_000, maxFields: 100 });
  const bytes = Buffer.from(`GET /a HTTP/1.1\r\n${text}\r\n`, "latin1");
  if (parser.read({ owned: false, bytes }, 0) < 0) throw new Error(parser.refusal ?? "incomplete");
  bytes.fill("!");
  return parser.take().checked;
}

/** Malformed values that the renderers must refuse wherever they come from. */
const inserted = fc.constantFrom("fine", "\xe9", "a\r\nb: c", "\0", "\u0101");

describe("checked fields", () => {
  it("the lines of a request that was read are its fields as the proxy writes them", () => {
    fc.assert(
      fc.property(fieldList, (fields) => {
        const checked = receive(linesOf(fields));
        expect(checked?.list ?? []).to.deep.equal(fields.flat());
        fields.forEach(([one, other], line) => {
          const { text = "", places = [] } = checked?.lines ?? {};
          expect(text.slice(places[line], places[line + 1])).to.equal(`${one}: ${other}\r\n`);
        });
      }),
    );
  });

  for (const line of ["A:1\r\n", "A:  1\r\n", "A: 1 \r\n", "A:\t1\r\n", "A:\r\n", "A: 1\t\r\n"]) {
    it(`lines are not kept of a head with ${JSON.stringify(line)}, which the proxy writes in another way`, () => {
      expect(receive(`B: 2\r\n${line}C: 3\r\n`)).to.equal(undefined);
      const response = `HTTP/1.1 200 OK\r\nB: 2\r\n${line}C: 3\r\n\r\n`;
      const parsed = parseResponseHead(response, 0, response.length);
      expect(parsed.ok && parsed.value.checked).to.equal(undefined);
    });
  }

  it("a request head is rendered alike with the received lines and without, after any changes", () => {
    fc.assert(
      fc.property(fieldList, changes, inserted, (fields, plan, text) => {
        const checked = receive(linesOf(fields));
        const headers = changed(checked?.list ?? [], plan, text);
        const expected = renderRequestHead(getRequest({ headers }));
        expect(renderRequestHead(getRequest({ headers, checked }))).to.deep.equal(expected);
        const withoutLines = checked && { ...checked, lines: undefined };
        expect(renderRequestHead(getRequest({ headers, checked: withoutLines }))).to.deep.equal(expected);
      }),
      { numRuns: 2_000, endOnFailure: true },
    );
  });

  it("a response head is rendered alike with the received lines and without, after any changes", () => {
    const more = fc.constantFrom(
      "",
      "Content-Length: 5\r\n",
      "Connection: A\r\n",
      "Date: now\r\n",
      "Keep-Alive: 5\r\n",
    );
    fc.assert(
      fc.property(fieldList, more, changes, inserted, (fields, others, plan, added) => {
        const text = `HTTP/1.1 200 OK\r\n${linesOf(fields.slice(0, 3))}${others}${linesOf(fields.slice(3))}\r\n`;
        const parsed = parseResponseHead(`${text}body`, 0, text.length);
        if (!parsed.ok) throw new Error(parsed.error);
        const { headers, checked, length } = parsed.value;
        const head = {
          status: 200,
          headers: changed(headers, plan, added),
          length,
          bodyless: false,
          undated: true,
        } as const;
        const options = { http11: true, keepAlive: true };
        expect(renderHead({ ...head, checked }, options)).to.deep.equal(renderHead(head, options));
      }),
      { numRuns: 2_000, endOnFailure: true },
    );
  });

  it("every field that HTTP/2 accepts is one that HTTP/1 accepts", () => {
    const octets = fc.string({
      unit: fc.integer({ min: 0, max: 0x101 }).map((code) => String.fromCharCode(code)),
    });
    const names = fc.oneof(
      octets,
      fc.constantFrom("a", "x-name", "cookie", "content-length", "host", "priority", "te"),
    );
    fc.assert(
      fc.property(names, octets, (one, other) => {
        const tag = judgeField(one, other);
        if (tag === fieldTag.malformed || one.startsWith(":")) return;
        expect([isFieldName(one), isFieldValue(other)]).to.deep.equal([true, true]);
      }),
      { numRuns: 5_000, endOnFailure: true },
    );
  });

  it("fields that were received unchanged leave as the very lines that came", () => {
    const checked = receive("A: 1\r\nB: 2\r\nHost: h\r\nC: 3\r\n");
    const headers = ["A", "1", "B", "2", "C", "3"];
    // Another text of the same length shows that the lines come from there.
    const { text = "", places = [] } = checked?.lines ?? {};
    const lines = { text: text.replace("A: 1", "A: 7").replace("C: 3", "C: 9"), places };
    const marked = checked && { ...checked, lines };
    const rendered = renderRequestHead(getRequest({ headers, checked: marked }));
    expect(rendered.ok && rendered.value).to.contain("A: 7\r\nB: 2\r\nC: 9\r\n");
  });
});
