import { expect } from "chai";
import { fieldTag } from "../../../../src/http2/field-tags.ts";
import { HpackField } from "../../../../src/http2/hpack/hpack-field.ts";
import { ResponseFields } from "../../../../src/upstream/h2/native/response-fields.ts";

describe("the fields of an HTTP/2 response", () => {
  it("the length 0 of a 204 is removed, and no value with the name of the field", () => {
    const fields = new ResponseFields();
    fields.onField(new HpackField(":status", "204", fieldTag.status));
    fields.onField(new HpackField("vary", "content-length", fieldTag.plain));
    fields.onField(new HpackField("content-length", "0", fieldTag.contentLength));
    fields.onField(new HpackField("x-a", "1", fieldTag.plain));
    expect(fields.finish()).to.equal(true);
    expect(fields.headers).to.deep.equal(["vary", "content-length", "x-a", "1"]);
  });
});
