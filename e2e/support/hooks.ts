/** Root hooks for every test file: they collect logs of failed tests, and close open connections at the end. */
import type { RootHookObject } from "mocha";
import { closeApi } from "./api.ts";
import { collectLogs } from "./logs.ts";

/** @public mocha looks up this name. */
export const mochaHooks: RootHookObject = {
  async afterEach(this: Mocha.Context) {
    const { currentTest } = this;
    if (currentTest?.state !== "failed") return;
    this.timeout(120_000);
    process.stdout.write(`      logs: ${await collectLogs(currentTest.fullTitle())}\n`);
  },
  async afterAll() {
    await closeApi();
  },
};
