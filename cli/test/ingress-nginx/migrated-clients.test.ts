/** Client certificates after a migration: the requests of rules/client-certificates.yaml get the same answers, over real sockets. */
import { joinDocuments } from "../../src/migrate/manifest-texts.ts";
import { expectAnswers } from "./ask.ts";
import { migrateText, ownClasses, targets } from "./migrated.ts";
import { readRules } from "./rule-cases.ts";
import { serveRules, type ServedRules } from "./rule-gateway.ts";

for (const [name, target] of Object.entries(targets)) {
  describe(`client certificates of ingress-nginx, migrated to ${name}`, () => {
    const files = readRules().filter((file) => file.name === "client-certificates");
    let served: ServedRules;

    before(async () => {
      const classes = ownClasses.map((one) => `${JSON.stringify(one)}\n`);
      served = await serveRules(files, async ({ text, flags }) => {
        const migrated = await migrateText(joinDocuments([...classes, text]), flags, target);
        return { text: migrated.text, flags: [] };
      });
    });
    after(() => served.close());

    for (const { rule, requests } of files.flatMap((file) => file.cases)) {
      it(rule, async () => {
        for (const request of requests) await expectAnswers(served.ports, request);
      });
    }
  });
}
