import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";

const project = new URL("../../", import.meta.url).pathname;

/** A small project with the import check of this one, and another TypeScript for it. */
function projectWith(typescript: string): string {
  const root = mkdtempSync(join(tmpdir(), "imports-"));
  for (const name of ["scripts/imports/check.ts", ".dependency-cruiser.cjs", "package.json"]) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    copyFileSync(join(project, name), join(root, name));
  }
  writeFileSync(join(root, "tsconfig.json"), "{}");
  for (const folder of ["proto", "common", "operator", "proxy", "cli"]) {
    for (const kind of ["src", "test"]) mkdirSync(join(root, folder, kind), { recursive: true });
  }
  writeFileSync(join(root, "common/src/b.ts"), "export type B = string;\n");
  writeFileSync(
    join(root, "common/src/a.ts"),
    'import "node:fs";\nimport "node:path";\nimport "node:url";\nimport type { B } from "./b.ts";\nexport const b: B = "";\n',
  );
  mkdirSync(join(root, "node_modules"));
  symlinkSync(
    join(project, "node_modules/dependency-cruiser"),
    join(root, "node_modules/dependency-cruiser"),
  );
  symlinkSync(join(project, typescript), join(root, "node_modules/typescript"));
  return root;
}

function check(typescript: string): { readonly status: number | null; readonly output: string } {
  const root = projectWith(typescript);
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts/imports/check.ts")], {
      encoding: "utf8",
    });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(root, { recursive: true });
  }
}

describe("the import check", () => {
  it("the import check accepts sources that it can read", () => {
    const { status, output } = check("scripts/imports/node_modules/typescript");
    expect(output).to.match(/^\d+ modules, \d+ imports, 0 forbidden$/m);
    expect(status).to.equal(0);
  });

  it("the import check fails with a TypeScript that dependency-cruiser cannot use, naming files", () => {
    const { status, output } = check("node_modules/typescript");
    expect(output).to.contain("not read: ").and.to.contain("common/src/a.ts");
    expect(status).to.equal(1);
  });
});
