import type { Result } from "@svc-gateway/common/values/result.ts";
import type { CaPem } from "./certificate-authority.ts";

/** What the Secret of the certificate authority holds. */
export type CaContent = CaPem & {
  /**
   * Replaced roots that are still trusted (`formatRetiredRoots`), under a key of its own; empty when there are none.
   * They are stored beside the key and not in the published bundle, because a user that may edit the bundle must not be
   * able to make controllers trust a root.
   */
  readonly retiredPem: string;
};

/** Where the certificate authority lives. Problems are of the store (an API server that does not answer). */
export type CaStore = {
  /** The present content; undefined when there is none. */
  read(): Promise<Result<CaContent | undefined>>;
  /**
   * Replaces `expected` (undefined: creates). `conflict` when something else is there now; then nothing was written.
   */
  write(content: CaContent, expected: CaContent | undefined): Promise<Result<"written" | "conflict">>;
  /** Publishes the trust bundle for proxies. A bundle that is published already is not written again. */
  publishTrust(bundlePem: string): Promise<Result<void>>;
  /** Calls back after the content may have changed; the returned function ends it. */
  watch(onChange: () => void): () => void;
};
