// Requests to the server, and its errors as one line for people.

const TOKEN = "numerate token";

export class ApiError extends Error {
  constructor(status, message, retryAfter = 0) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter; // seconds; 0: the same request would fail again
  }
}

export function useToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export async function ask(path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(`/v1/${path}`, {
      method: body ? "POST" : "GET",
      headers,
      body: body && JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The server does not answer. Is it still running?", 2);
  }
  const answer = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (response.ok) return answer;
  const message = answer.error ?? `The server answered ${response.status}.`;
  throw new ApiError(
    response.status,
    message.charAt(0).toUpperCase() + message.slice(1).replace(/([^.?!…])$/, "$1."),
    Number(response.headers.get("Retry-After") ?? 0),
  );
}
