import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import { textOf } from "../../common/src/values/errors.ts";
import { exampleFolders } from "../../scripts/examples/folders.ts";
import { requestsOf } from "../../scripts/examples/readme.ts";
import {
  addressOfExample,
  applyExample,
  askExample,
  deleteExample,
  renderExample,
} from "../support/example.ts";
import { needGatewayApi } from "../support/gateway-api.ts";
import { waitForRollout } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { root } from "../support/provider.ts";

/** Examples that cannot run on the test cluster, with the reason. */
const elsewhere: Readonly<Record<string, string>> = {
  "cert-manager": "the cluster has no cert-manager, which make e2e-cert-manager adds",
};

/**
 * The time limit for an answer. Objects without a status, such as Secrets and ReferenceGrants, can reach the proxies
 * a moment later, and the dedicated proxies of a Gateway start after it has an address.
 */
const patienceMs = 90_000;
/** The time limit if no correct answer is expected. */
const shortPatienceMs = 5_000;

describe("the examples on a cluster", () => {
  const backends = join(root, "config/examples/backends");
  let shared: Awaited<ReturnType<typeof renderExample>> = [];

  before(async function () {
    await needGatewayApi(this);
    shared = await renderExample(backends);
    await applyExample(shared);
    for (const name of ["blue", "green"]) await waitForRollout({ namespace: "default", name });
  });
  after(() => deleteExample(shared));

  it("the list of examples that cannot run on the cluster names examples", () => {
    expect(exampleFolders().map((folder) => basename(folder))).to.include.members(Object.keys(elsewhere));
  });

  /** One text for each request that is not answered as the README shows. */
  const wrongAnswers = async (
    folder: string,
    own: typeof shared,
    limitMs: number,
  ): Promise<readonly string[]> => {
    await applyExample(own);
    const address = await addressOfExample(own);
    const wrong: string[] = [];
    for (const request of requestsOf(readFileSync(join(folder, "README.md"), "utf8"))) {
      let output = "";
      const ask = async (): Promise<boolean> => {
        const answered = await askExample(request, address);
        output = answered.output;
        return answered.isRight;
      };
      await poll(`the answer to ${request.command}`, ask, limitMs).catch(() =>
        wrong.push(`${request.command}\nexpected\n${request.answer.join("\n")}\nand got\n${output}`),
      );
    }
    return wrong;
  };

  const ownObjects = async (folder: string): Promise<typeof shared> => {
    const known = new Set(shared.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    const all = await renderExample(folder);
    return all.filter(({ kind, metadata }) => !known.has(`${kind} ${metadata.name}`));
  };

  for (const folder of exampleFolders()) {
    const name = basename(folder);
    const reason = elsewhere[name];
    it(`${name} ${reason === undefined ? "answers as its README says" : `is not served: ${reason}`}`, async () => {
      const own = await ownObjects(folder);
      try {
        const limitMs = reason === undefined ? patienceMs : shortPatienceMs;
        const wrong = await wrongAnswers(folder, own, limitMs).catch((error: unknown) => [textOf(error)]);
        if (reason === undefined) expect(wrong.join("\n")).to.equal("");
        else expect(wrong, "every answer is right: take the example from the list").to.not.deep.equal([]);
      } finally {
        await deleteExample(own);
      }
    });
  }
});
