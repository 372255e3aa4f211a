import { expect } from "chai";
import { roles } from "../../src/settings/flag.ts";
import { serveHelp } from "../../src/settings/help.ts";
import { flagsOf } from "../../src/settings/settings.ts";

describe("serveHelp", () => {
  for (const role of roles) {
    it(`the help of ${role} lists exactly its flags, within the width of a terminal`, () => {
      const help = serveHelp(role);
      const listed = Array.from(help.matchAll(/^ {2}--([a-z0-9-]+)/gm), ([, name]) => name);
      expect(listed).to.deep.equal(flagsOf(role).map(({ name }) => name));
      for (const line of help.split("\n"))
        expect(line.length <= 110 || /^ +\S+$/.test(line), line).to.equal(true);
    });
  }

  it("the help shows the defaults of the role and which flags are required", () => {
    const text = serveHelp("standalone").replaceAll(/\s+/g, " ");
    expect(text).to.include(
      "--manifests <path> Folder of manifests to serve; it is watched for changes. (required without --proxy)",
    );
    expect(text).to.include("(80=8080,443=8443)");
    expect(serveHelp("proxy").replaceAll(/\s+/g, " ")).to.include("Local port 0 selects a free port. (none)");
  });
});
