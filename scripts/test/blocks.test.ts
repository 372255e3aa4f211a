import { expect } from "chai";
import { blocksOf, type Block } from "../blocks/block.ts";
import { blocksOfPage, mistakesOfBlock, pages } from "../blocks/check.ts";
import { commandsOf } from "../blocks/shell.ts";

const blockOf = (text: string): Block => {
  const [block] = blocksOf("page.md", text);
  if (block === undefined) throw new Error("the text has no block");
  return block;
};
const mistakesOf = (info: string, text: string): Promise<readonly string[]> =>
  mistakesOfBlock(blockOf(`\`\`\`${info}\n${text}\n\`\`\`\n`));

describe("the blocks of pages", () => {
  for (const page of pages) {
    const blocks = blocksOfPage(page);
    if (blocks.length === 0) continue;
    it(`the blocks of ${page} can be used as they are, or say why not`, async () => {
      const mistakes = await Promise.all(blocks.map(mistakesOfBlock));
      expect(mistakes.flat()).to.deep.equal([]);
    });
  }
});

describe("the checks of blocks", () => {
  it("a block is read with its line, its options and without the indentation of a list", () => {
    const block = blockOf('1. Do\n\n   ```sh skip="needs a cloud" values\n   make\n     x\n   ```\n');
    expect(block).to.deep.equal({
      page: "page.md",
      line: 3,
      language: "sh",
      options: new Map([
        ["skip", "needs a cloud"],
        ["values", ""],
      ]),
      text: "make\n  x\n",
    });
  });

  it("a command is split at pipes, with its quotes, substitutions and comments read as by a shell", () => {
    const script =
      "A=1 curl -H 'Host: a' \"b $(kubectl get x | paste -) c\" \\\n  d 2>/dev/null | grep e # no\nmake f > g";
    expect(commandsOf(script)).to.deep.equal([
      ["kubectl", "get", "x"],
      ["paste", "-"],
      ["curl", "-H", "Host: a", "b output c", "d"],
      ["grep", "e"],
      ["make", "f"],
    ]);
  });

  const wrong: readonly (readonly [info: string, text: string, mistake: string])[] = [
    ["", "make", 'language ""'],
    ["sh", "svc-gateway chekc manifests", "no such command"],
    ["sh", "svc-gateway check manifests --fail-om error", "--fail-om: unknown flag"],
    ["console", "$ svc-gateway check manifests --fail-on never", "--fail-on=never"],
    ["sh", "make no-such-target", "No rule to make target"],
    ["sh", "curl --no-such-option http://127.0.0.1:8080/", "option --no-such-option: is unknown"],
    ["sh", "docker build .", "docker is a program whose commands are not tried"],
    ["sh", 'docker build --tag "$(kubectl get x)" .', "docker is a program whose commands are not tried"],
    ['sh skip="needs a cloud"', "make test", "is not needed"],
    ['sh skip="no"', "docker build .", "expected a reason of 3 words"],
    ["text", "kubectl get pods", "is a command"],
    ["json", "{", "JSON"],
    ["promql", "svc_no_such_metric", "is no metric"],
    ["yaml values", "controler: {}", "must NOT have additional properties"],
    [
      'yaml part="Ingress"',
      'metadata: { annotations: { ingress.svc-labs.dev/read-timeout: "soon" } }',
      "InvalidAnnotation",
    ],
    ['yaml part="Pod"', "spec: {}", "expected one of Ingress"],
    [
      "yaml",
      "apiVersion: gateway.svc-labs.dev/v1alpha1\nkind: RetryPolicy\nmetadata: { name: a }\nspec: { attempt: 2 }",
      "attempt",
    ],
    ["yaml", "apiVersion: example.com/v1\nkind: Unknown\nmetadata: { name: a }", "not read"],
  ];
  for (const [info, text, mistake] of wrong) {
    it(`a block with the info string "${info}" and the text ${JSON.stringify(text)} is found to be wrong`, async () => {
      expect((await mistakesOf(info, text)).join("\n")).to.include(mistake);
    });
  }

  it("a block that is skipped for a reason has no mistake", async () => {
    expect(await mistakesOf('sh skip="needs Docker and a registry"', "docker build .")).to.deep.equal([]);
  });
});
