import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { ApiClient, ApiError, ApiRequest } from "../../src/sources/kubernetes/api-client.ts";

export type FakeCall = ApiRequest & { readonly path: string };

export type FakeClient = ApiClient & { readonly calls: readonly FakeCall[] };

/** A client whose answers the test gives: an object, or an error by its status. */
export function createFakeClient(
  answer: (call: FakeCall) => object | number | Promise<object | number>,
): FakeClient {
  const calls: FakeCall[] = [];
  return {
    calls,
    async call<T>(path: string, request: ApiRequest = {}): Promise<Result<T, ApiError>> {
      const call = { ...request, path };
      calls.push(call);
      const answered = await answer(call);
      if (typeof answered !== "number") return ok(answered as T);
      return fail({ status: answered, reason: `Status${answered}`, message: "from the test" });
    },
    readText: () => Promise.reject(new Error("not part of this test")),
    watch: () => Promise.reject(new Error("not part of this test")),
    close: () => Promise.resolve(),
  };
}
