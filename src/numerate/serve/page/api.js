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

/** What the server says; a body that is no Blob, as the bytes of a file are, is sent as JSON. */
export async function ask(path, body, signal) {
  const response = await send(path, body, signal);
  return read(response);
}

/** The same where the answer is a file. */
export async function askForFile(path, body, signal) {
  const response = await send(path, body, signal);
  return response.blob();
}

async function send(path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  const isFile = body instanceof Blob;
  if (body) headers["Content-Type"] = isFile ? "application/octet-stream" : "application/json";
  let response;
  try {
    response = await fetch(`/v1/${path}`, {
      method: body ? "POST" : "GET",
      headers,
      body: isFile ? body : body && JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The server does not answer. Is it still running?", 2);
  }
  if (response.ok) return response;
  const message = (await read(response)).error ?? `The server answered ${response.status}.`;
  throw new ApiError(
    response.status,
    sentence(message),
    Number(response.headers.get("Retry-After") ?? 0),
  );
}

/** A line of the server's; a name of a file stays as it is. */
function sentence(line) {
  return line.replace(/^[a-z](?=[a-z]*[\s:,])/, (letter) => letter.toUpperCase()).replace(/([^.?!…])$/, "$1.");
}

function read(response) {
  return response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
}
