import { expect } from "chai";
import { isWeakHash, readPasswordHash } from "../../src/values/password-hash.ts";

const md5Text = "0123456789abcdefghijkl";
const sha256Text = "L8WKQ9hLQTQJiO1ivUVHfdqWvkAVSBbnXDMIMZEMSu9";
const sha512Text = sha256Text + sha256Text;
const bcryptText = "abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy";

describe("readPasswordHash", () => {
  for (const [hash, kind, weak] of [
    [`$2a$04$${bcryptText}`, "bcrypt", false],
    [`$2y$14$${bcryptText}`, "bcrypt", false],
    [`$1$$${md5Text}`, "md5", true],
    [`$apr1$salt./Zz$${md5Text}`, "md5", true],
    [`$5$salt$${sha256Text}`, "sha256", false],
    [`$5$rounds=100000$salt$${sha256Text}`, "sha256", false],
    [`$6$$${sha512Text}`, "sha512", false],
    [`$6$rounds=1000$0123456789abcdef$${sha512Text}`, "sha512", false],
    ["{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "sha1", true],
    ["{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9hzYWx0", "ssha1", true],
    ["{PLAIN}", "plain", true],
    ["{PLAIN}a b", "plain", true],
  ] as const) {
    it(`readPasswordHash takes ${hash.slice(0, 30)} for ${kind}`, () => {
      expect(readPasswordHash(hash)).to.deep.equal({ ok: true, value: kind });
      expect(isWeakHash(kind)).to.equal(weak);
    });
  }

  for (const [hash, why] of [
    ["abJnggxhB/yWI", /DES/],
    ["", /unknown form/],
    ["password", /unknown form/],
    ["{plain}x", /unknown form/],
    ["{CRYPT}abJnggxhB/yWI", /unknown form/],
    ["$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA", /unknown form/],
    ["$y$j9T$salt$hash", /unknown form/],
    [`$2b$15$${bcryptText}`, /cost outside 4 to 14/],
    [`$2b$03$${bcryptText}`, /cost outside 4 to 14/],
    [`$2x$04$${bcryptText}`, /malformed bcrypt/],
    [`$1$123456789$${md5Text}`, /malformed MD5/],
    [`$apr1$salt$${md5Text}x`, /malformed MD5/],
    [`$apr1$sa lt$${md5Text}`, /malformed MD5/],
    [`$5$salt$${sha512Text}`, /malformed SHA-2/],
    [`$6$salt$${sha256Text}`, /malformed SHA-2/],
    [`$5$0123456789abcdefg$${sha256Text}`, /malformed SHA-2/],
    [`$5$rounds=100001$salt$${sha256Text}`, /rounds outside 1000 to 100000/],
    [`$5$rounds=999$salt$${sha256Text}`, /rounds outside/],
    [`$5$rounds=05000$salt$${sha256Text}`, /rounds outside/],
    [`$5$rounds=9999999999$salt$${sha256Text}`, /malformed SHA-2/],
    ["{SHA}short=", /malformed {SHA}/],
    ["{SSHA}short", /malformed {SSHA}/],
  ] as const) {
    it(`readPasswordHash refuses ${hash.slice(0, 40)}`, () => {
      const read = readPasswordHash(hash);
      if (read.ok) throw new Error(`it is read as ${read.value}`);
      expect(read.error.message).to.match(why);
    });
  }
});
