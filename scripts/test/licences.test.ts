import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect } from "chai";
import { licenceFilesOf } from "../licences/licence-files.ts";
import { isPermitted, licencesOf } from "../licences/licences.ts";
import { copyrightLines } from "../licences/source-copyrights.ts";
import { takenOver } from "../licences/taken-over.ts";
import type { ShippedPackage } from "../licences/shipped-packages.ts";
import { yaml } from "./shipped-package.ts";

const root = resolve(import.meta.dirname, "../..");

describe("licences of shipped packages", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "svc-gateway-licences-test-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (...names: readonly string[]): readonly string[] =>
    names.map((name) => {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, name);
      return path;
    });

  const problemsOf = (change: Partial<ShippedPackage>): readonly string[] => {
    const read = licencesOf([{ ...yaml, ...change }]);
    return read.ok ? [] : read.error;
  };

  /** The section of the package in THIRD-PARTY-LICENSES, without its title. */
  const sectionOf = (change: Partial<ShippedPackage>): string => {
    const read = licencesOf([{ ...yaml, ...change }]);
    if (!read.ok) throw new Error(read.error.join("\n"));
    return (read.value.split(`${"=".repeat(80)}\n`)[2] ?? "").trim();
  };

  it("a package without a permitted licence, or without its text, must not be shipped", () => {
    expect(problemsOf({})).to.deep.equal([]);
    expect(problemsOf({ licence: undefined })[0]).to.match(
      /^@scope\/yaml 2\.9\.1: package\.json has no license/,
    );
    expect(problemsOf({ licence: "GPL-3.0-only" })[0]).to.match(
      /the licence "GPL-3.0-only" is not permitted/,
    );
    expect(problemsOf({ texts: [] })[0]).to.match(/has no licence text/);
  });

  it("a NOTICE file is no licence text", () => {
    expect(problemsOf({ texts: [], notices: ["Portions are by others"] })[0]).to.match(/has no licence text/);
  });

  it("a choice needs one permitted licence, and a combination needs all", () => {
    for (const licence of ["MIT", "(MIT OR GPL-3.0-only)", "Apache-2.0 AND BSD-3-Clause"]) {
      expect(isPermitted(licence), licence).to.equal(true);
    }
    const refused = [
      "MIT AND GPL-3.0-only",
      "Apache-2.0 WITH LLVM-exception",
      "SEE LICENSE IN x",
      "UNLICENSED",
    ];
    for (const licence of refused) expect(isPermitted(licence), licence).to.equal(false);
  });

  it("the section of a package has its licences, its notices, and holders of rights whom these do not name", () => {
    expect(sectionOf({})).to.equal("Permission to use");
    expect(
      sectionOf({
        texts: ["Copyright 2019\n  gRPC authors.", "Copyright 2020 A."],
        notices: ["Portions are by B."],
        copyrights: ["Copyright 2019 gRPC authors.", "Copyright 2021 C."],
      }),
    ).to.equal(
      "Copyright 2019\n  gRPC authors.\n\nCopyright 2020 A.\n\nPortions are by B.\n\nIn its sources:\nCopyright 2021 C.",
    );
  });

  it("licences and notices are read beside the code that is shipped, and beside no other", () => {
    const [own, notice, third, fetched] = write(
      "LICENSE",
      "NOTICE.txt",
      "ThirdPartyNotices.txt",
      "lib/fetch/licence.md",
    );
    write("lib/license.js", "lib/notices.d.ts", "test/LICENSE", "LICENSES/MIT.txt", "package.json");
    expect(
      licenceFilesOf(folder, [join(folder, "lib/fetch/index.js"), join(folder, "lib/a.js")]),
    ).to.deep.equal({
      licences: [own, fetched],
      notices: [notice, third],
    });
    expect(licenceFilesOf(folder, [join(folder, "lib/a.js")]).licences).to.deep.equal([own]);
  });

  it("holders of rights are read from comments, each once", () => {
    const sources = [
      "/*\n * Copyright 2019 gRPC authors.\n */\n// Copyright 2019 gRPC authors.\n",
      "/*! (c) 2017 Trent Mick. */\n  // copyright (C) 2014  X, Inc.\nconst a = 1; // © 2020 nothing\n",
      '// © 2020 Y\nconst copyright = "Copyright 2020 Z";\n// the copyright of 2020\n',
    ];
    expect(copyrightLines(sources)).to.deep.equal([
      "(c) 2017 Trent Mick.",
      "Copyright 2019 gRPC authors.",
      "copyright (C) 2014 X, Inc.",
      "© 2020 Y",
    ]);
  });

  it("every source of the project that names another holder of rights is listed with what goes along with it", () => {
    const git = (...args: readonly string[]): readonly string[] =>
      execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim().split("\n");
    const sources = git("ls-files", "*.ts", "*.proto", "*.js", "*.mjs", "*.cjs", "*.go");
    const named = sources.filter(
      (file) => copyrightLines([readFileSync(join(root, file), "utf8")]).length > 0,
    );
    expect(named).to.deep.equal(takenOver.flatMap(({ files }) => files));
    const read = licencesOf([yaml]);
    for (const { name, notices } of takenOver) {
      for (const text of [name, ...notices]) expect(read.ok ? read.value : "").to.include(text);
    }
  });
});
