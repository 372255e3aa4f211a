import { expect } from "chai";
import { nginxAnnotations } from "../../operator/src/translate/ingress-nginx/annotations/index.ts";
import { traefikTrial } from "../traefik/column.ts";

describe("the trial of Traefik", () => {
  it("the figures are of declared annotations only", () => {
    const declared = new Set(nginxAnnotations.keys());
    const names = Object.keys(traefikTrial.annotations);
    expect(names.filter((name) => !declared.has(name))).to.deep.equal([]);
  });

  it("expected answers are no more than requests", () => {
    const figures = Object.entries(traefikTrial.annotations).map(([name, { asked, same }]) => ({
      name,
      isPossible: same >= 0 && same <= asked,
    }));
    expect(figures.filter(({ isPossible }) => !isPossible)).to.deep.equal([]);
  });
});
