import { expect } from "chai";
import type { ObjectOf } from "../../../src/api/kinds.ts";
import {
  migratedHtpasswdLabels,
  readAuthFile,
  readAuthMap,
  readHtpasswdSecret,
} from "../../../src/translate/credentials/htpasswd.ts";

const secret = (data: Readonly<Record<string, string>>): ObjectOf<"Secret"> => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "users", namespace: "shop" },
  type: "Opaque",
  data: Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "utf8").toString("base64")]),
  ),
});

const apr1 = "$apr1$foo$gW3FoVhB6fLp04zDwEcT51";

describe("readAuthFile", () => {
  it("an auth file of a Secret without a label may hold hashes of all kinds", () => {
    const file = [
      "# staff",
      `ann:${apr1}`,
      "bob:$5$salt$Gcm6FsVtF/Qa77ZKD.iwsJlCVPY0XSMgLJL0Hnww/c1:a comment",
      "cem:{PLAIN}grün",
      "no colon",
      "",
      "dän:{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9hzYWx0",
    ].join("\r\n");
    expect(readAuthFile(secret({ auth: file }))).to.deep.equal({
      ok: true,
      value: {
        value: {
          users: [
            { name: "ann", hash: apr1 },
            { name: "bob", hash: "$5$salt$Gcm6FsVtF/Qa77ZKD.iwsJlCVPY0XSMgLJL0Hnww/c1" },
            { name: "cem", hash: `{PLAIN}${Buffer.from("grün").toString("latin1")}` },
            { name: "dän", hash: "{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9hzYWx0" },
          ],
        },
        weakUsers: ["ann", "cem", "dän"],
        leftOut: ["line 5 (not user:hash)"],
      },
    });
  });

  it("a user with a DES hash is left out by name, and its first line counts", () => {
    const read = readAuthFile(secret({ auth: `eve:abJnggxhB/yWI\nann:${apr1}\neve:${apr1}` }));
    if (!read.ok) throw new Error(read.error.message);
    expect(read.value.value.users).to.deep.equal([{ name: "ann", hash: apr1 }]);
    expect(read.value.leftOut).to.deep.equal([
      'line 1 (user "eve": DES hash, which is not supported)',
      "line 3 (the user of an earlier line)",
    ]);
  });

  it("an auth file without a key auth or without a usable line is a problem that shows no hash", () => {
    expect(readAuthFile(secret({ users: "a" }))).to.have.nested.property(
      "error.message",
      "it has no key auth",
    );
    const read = readAuthFile(secret({ auth: "eve:abJnggxhB/yWI" }));
    if (read.ok) throw new Error("it is read");
    expect(read.error.message).to.match(/DES/).and.not.to.contain("abJ");
  });
});

describe("readAuthMap", () => {
  it("each key of an auth map is a user, in order of their names, without the line break behind a hash", () => {
    const read = readAuthMap(
      secret({ zoe: `${apr1}\n`, ann: `${apr1}\nmallory:{PLAIN}x`, auth: "{PLAIN} " }),
    );
    if (!read.ok) throw new Error(read.error.message);
    expect(read.value.value.users).to.deep.equal([
      { name: "auth", hash: "{PLAIN}" },
      { name: "zoe", hash: apr1 },
    ]);
    expect(read.value.leftOut).to.deep.equal(['key "ann" (user "ann": malformed MD5 hash)']);
  });

  it("an empty auth map is a problem", () => {
    expect(readAuthMap(secret({}))).to.have.nested.property("error.message", "it holds no user");
  });
});

describe("readHtpasswdSecret", () => {
  it("a Secret without the label lets no client in, and one with it only by bcrypt and {SHA}", () => {
    const plain = secret({ auth: `ann:${apr1}\nbob:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=` });
    expect(readHtpasswdSecret(plain).ok).to.equal(false);
    const labels = { "ingress.svc-labs.dev/auth-basic": "true" };
    const read = readHtpasswdSecret({ ...plain, metadata: { ...plain.metadata, labels } });
    if (!read.ok) throw new Error(read.error.message);
    expect(read.value.value.users.map(({ name }) => name)).to.deep.equal(["bob"]);
    expect(read.value.leftOut).to.deep.equal(["line 1 (neither bcrypt nor {SHA})"]);
  });

  it("a Secret with the label for all hashes lets clients in by MD5 too, but not by passwords in plain text", () => {
    const labelled = secret({ auth: `ann:${apr1}\nbob:{PLAIN}secret` });
    const labels = migratedHtpasswdLabels;
    const read = readHtpasswdSecret({ ...labelled, metadata: { ...labelled.metadata, labels } });
    if (!read.ok) throw new Error(read.error.message);
    expect(read.value.value.users.map(({ name }) => name)).to.deep.equal(["ann"]);
    expect(read.value.weakUsers).to.deep.equal(["ann"]);
    expect(read.value.leftOut).to.deep.equal(["line 2 (password in plain text)"]);
  });
});
