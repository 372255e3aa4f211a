import { readFileSync } from "node:fs";
import { expect } from "chai";
import { imageConfig } from "../image/contents.ts";

describe("the image", () => {
  const lines = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8").split("\n");
  /** The arguments of the last occurrence of an instruction. */
  const last = (instruction: string): string | undefined =>
    lines.findLast((line) => line.startsWith(`${instruction} `))?.slice(instruction.length + 1);

  it("the images of the Dockerfile and of the stage script have the same configuration", () => {
    expect(last("USER")).to.equal(imageConfig.user);
    expect(last("WORKDIR")).to.equal(imageConfig.workingFolder);
    expect(JSON.parse(last("ENTRYPOINT") ?? "")).to.deep.equal(imageConfig.entrypoint);
    expect(last("ENV")).to.equal('NODE_ENV="production"');
    expect(imageConfig.environment).to.deep.equal({ NODE_ENV: "production" });
  });

  it("the base images of the Dockerfile are pinned by tag and digest", () => {
    const bases = lines.filter((line) => line.startsWith("FROM ")).map((line) => line.split(" ")[1] ?? "");
    expect(bases).to.have.length(2);
    for (const base of bases) expect(base).to.match(/:(?!latest@)[\w.-]+@sha256:[0-9a-f]{64}$/);
  });
});
