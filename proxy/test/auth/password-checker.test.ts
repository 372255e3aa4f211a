import { expect } from "chai";
import { hashSync } from "bcryptjs";
import { createPasswordChecker, type PasswordChecker } from "../../src/auth/password-checker.ts";

const wanted = (): boolean => true;

describe("the password checker", () => {
  let checker: PasswordChecker;
  afterEach(() => checker.close());

  for (const version of ["2a", "2b", "2y"]) {
    it(`the password checker accepts the password of a $${version}$ hash and no other`, async () => {
      checker = createPasswordChecker(4);
      const hash = hashSync("open sesame", 4).replace("$2b$", `$${version}$`);
      expect(await checker.compare("open sesame", hash, wanted)).to.equal("match");
      expect(await checker.compare("open sesam", hash, wanted)).to.equal("mismatch");
    });
  }

  it("the password checker answers mismatch for a malformed hash", async () => {
    checker = createPasswordChecker(4);
    expect(await checker.compare("a", "$2b$04$nonsense", wanted)).to.equal("mismatch");
  });

  it("the password checker lets a bounded number of comparisons wait, and answers busy to more", async () => {
    checker = createPasswordChecker(2);
    const hash = hashSync("p", 4);
    const verdicts = Array.from({ length: 5 }, () => checker.compare("p", hash, wanted));
    expect(await Promise.all(verdicts)).to.deep.equal(["match", "match", "match", "busy", "busy"]);
    expect(await checker.compare("p", hash, wanted)).to.equal("match");
  });

  it("the password checker compares for an owner with one password although another floods it with expensive ones", async () => {
    checker = createPasswordChecker(4);
    const expensive = hashSync("p", 8);
    const settled: string[] = [];
    const flood = Array.from({ length: 20 }, (_, index) =>
      checker.compare("x", expensive, wanted, "blog").then((verdict) => {
        settled.push(`blog ${index} ${verdict}`);
        return verdict;
      }),
    );
    const own = checker.compare("p", hashSync("p", 4), wanted, "shop").then((verdict) => {
      settled.push(`shop ${verdict}`);
    });
    await Promise.all([...flood, own]);
    // After the one under way and the one whose turn it was.
    const compared = settled.filter((text) => !text.endsWith("busy"));
    expect(compared.indexOf("shop match")).to.be.within(0, 2);
    expect(compared).to.have.lengthOf(5);
  });

  it("the password checker skips comparisons whose client has left", async () => {
    checker = createPasswordChecker(4);
    const hash = hashSync("p", 4);
    const first = checker.compare("p", hash, wanted);
    const second = checker.compare("p", hash, () => false);
    const third = checker.compare("p", hash, wanted);
    expect(await Promise.all([first, second, third])).to.deep.equal(["match", "busy", "match"]);
  });

  it("the password checker answers busy to waiting comparisons when it is closed, and works again afterwards", async () => {
    checker = createPasswordChecker(4);
    const hash = hashSync("p", 4);
    const verdicts = [checker.compare("p", hash, wanted), checker.compare("p", hash, wanted)];
    checker.close();
    expect(await Promise.all(verdicts)).to.deep.equal(["busy", "busy"]);
    expect(await checker.compare("p", hash, wanted)).to.equal("match");
  });
});
