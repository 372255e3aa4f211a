import { expectAnswers } from "../ask.ts";
import { startBackends } from "../backends.ts";
import { readCorpus } from "../cases.ts";
import { hasNginx, withNginx } from "./process.ts";
import { canShow } from "./sites.ts";

describe("nginx, configured as ingress-nginx configures it", () => {
  it("nginx answers the requests of the corpus as the corpus expects, as far as it can without Lua", async function () {
    if (!hasNginx()) return void this.skip();
    const shown = await Promise.all(
      readCorpus()
        .filter(canShow)
        .map(async (one) => ({ one, backends: await startBackends(one) })),
    );
    try {
      await withNginx(shown, async (ports) => {
        const failures: string[] = [];
        for (const { one } of shown) {
          for (const wanted of one.requests.filter(({ needsLua }) => needsLua !== true)) {
            const { nginxStatus: status } = wanted;
            const shownBy = status === undefined ? wanted : { request: wanted.request, status };
            await expectAnswers(ports, shownBy).catch((error: unknown) => {
              failures.push(`${one.name}: ${error instanceof Error ? error.message : String(error)}`);
            });
          }
        }
        if (failures.length > 0) throw new Error(failures.join("\n"));
      });
    } finally {
      await Promise.all(shown.map(({ backends }) => backends.close()));
    }
  });
});
