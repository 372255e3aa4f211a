import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { expect } from "chai";
import { matchesHash } from "../../../src/auth/crypt/matches-hash.ts";

/** Hashes of `crypt`'s own documents, of Apache's and nginx's tests, and of OpenSSL. */
const vectors: readonly (readonly [password: string, hash: string])[] = [
  // Drepper, "Unix crypt using SHA-256 and SHA-512", test vectors.
  ["Hello world!", "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"],
  ["Hello world!", "$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"],
  [
    "Hello world!",
    "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
  ],
  [
    "Hello world!",
    "$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.",
  ],
  [
    "we have a short salt string but not a short password",
    "$6$rounds=77777$short$WuQyW2YR.hBNpjjRhpYD/ifIw05xdfeEyQoMxIXbkvr0gge1a1x3yRULJ5CCaUeOxFmtlcGZelFl5CxtgfiAc0",
  ],
  // Apache's documentation of password formats, and OpenSSL.
  ["myPassword", "$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/"],
  ["password", "$apr1$foo$gW3FoVhB6fLp04zDwEcT51"],
  ["password", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="],
  ["password", "{PLAIN}password"],
];

const ssha = (password: string, salt: string): string =>
  `{SSHA}${Buffer.concat([createHash("sha1").update(password).update(salt).digest(), Buffer.from(salt)]).toString("base64")}`;

describe("matchesHash", () => {
  for (const [password, hash] of vectors) {
    it(`the password of ${hash.slice(0, 24)} matches, and no other one`, () => {
      expect(matchesHash(password, hash)).to.equal(true);
      expect(matchesHash(`${password} `, hash)).to.equal(false);
      expect(matchesHash(password.slice(1), hash)).to.equal(false);
      expect(matchesHash("", hash)).to.equal(false);
    });
  }

  for (const kind of ["-1", "-apr1", "-5", "-6"]) {
    it(`hashes that openssl passwd ${kind} makes match passwords of many lengths and of UTF-8`, () => {
      // OpenSSL makes no SHA-2 hash of an empty password; glibc does, see below.
      for (const password of [
        "a",
        "ü€😀",
        ..."0123456789".split("").map((_, i) => "pw/".repeat(i * 4 + 5)),
      ]) {
        const salt = `s${password.length}./Z`;
        const hash = execFileSync("openssl", ["passwd", kind, "-salt", salt, "-stdin"], {
          input: `${password}\n`,
        })
          .toString()
          .trim();
        expect(matchesHash(password, hash), `${kind} ${password.length}`).to.equal(true);
        expect(matchesHash(`${password}x`, hash)).to.equal(false);
      }
    });
  }

  it("the hashes of an empty password that glibc makes match it", () => {
    expect(matchesHash("", "$5$abc$bBHLwRRW2Li0XKaX13kz/g2fkDil4Jx46aNvd.48MS8")).to.equal(true);
    const sha512 =
      "$6$abc$mJP3a6FyA8uCnzRtlnNypPwjnvpi5TP9qOrInzrfDmwxUQG38PkpCPdqfTb8JQfAngapMxeim4AZ..hSdRRzD.";
    expect(matchesHash("", sha512)).to.equal(true);
    expect(matchesHash(" ", sha512)).to.equal(false);
  });

  it("a salted SHA-1 hash matches with a salt of any length", () => {
    for (const salt of ["", "abcd", "0123456789abcdef0123456789abcdef"]) {
      expect(matchesHash("pw", ssha("pw", salt))).to.equal(true);
      expect(matchesHash("pv", ssha("pw", salt))).to.equal(false);
    }
  });

  it("a plain password may hold characters outside ASCII, and be empty", () => {
    expect(matchesHash("grün", `{PLAIN}${Buffer.from("grün").toString("latin1")}`)).to.equal(true);
    expect(matchesHash("grun", `{PLAIN}${Buffer.from("grün").toString("latin1")}`)).to.equal(false);
    expect(matchesHash("", "{PLAIN}")).to.equal(true);
  });

  it("a password of more than 512 octets matches no SHA-2 hash, not even one of its beginning", () => {
    const password = "x".repeat(512);
    const hash = execFileSync("openssl", ["passwd", "-5", "-salt", "s", "-stdin"], { input: `${password}\n` })
      .toString()
      .trim();
    expect(matchesHash(password.slice(0, 255), hash)).to.equal(false);
    expect(matchesHash(`${password}y`, hash)).to.equal(false);
  });

  it("malformed hashes match no password", () => {
    for (const hash of [
      "",
      "{SSHA}",
      "{SSHA}YQ==",
      "abJnggxhB/yWI",
      "$9$x$y",
      "password",
      "{plain}password",
    ]) {
      expect(matchesHash("password", hash), hash).to.equal(false);
    }
  });
});
