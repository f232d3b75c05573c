"""Usage: calls.py LIBRARY URL CALLS SILENT_S

Makes CALLS calls, one a little after the other, with a library of this Python, with the settings that
it has by default, and waits for their ends. URL is that of a server that always fails. With SILENT_S > 0 that is
how long an attempt may take (of gRPC: a call). Prints the library's version.
"""

import json
import os
import sys
import threading
import time

name, url, calls, silent = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])


def aws(mode, service, operation, new=None):
    if new is not None:
        os.environ["AWS_NEW_RETRIES_2026"] = new  # read when botocore is imported
    import botocore.session
    from botocore.config import Config

    session = botocore.session.get_session()
    settings = {"retries": {"mode": mode}}
    if silent:
        settings["read_timeout"] = silent

    def one(_):
        # Each with a separate client, and so with a full quota.
        client = session.create_client(
            service, region_name="us-east-1", endpoint_url=url, config=Config(**settings),
            aws_access_key_id="x", aws_secret_access_key="x")
        return getattr(client, operation)

    which = f"{mode} of 2026" if new == "true" else mode
    return f"botocore {botocore.__version__}, {which}, {service}", one


def urllib3_of_three():
    import urllib3

    pool = urllib3.PoolManager(num_pools=1, maxsize=calls)
    timeout = urllib3.Timeout(read=silent) if silent else urllib3.Timeout(60)
    return f"urllib3 {urllib3.__version__}", lambda i: lambda: pool.request(
        "GET", f"{url}/{i}", retries=urllib3.Retry(3), timeout=timeout)


def grpc_of_the_proposal():
    import grpc

    # The example of gRPC's proposal A6, because gRPC has no default. An attempt has no timeout, a call has.
    config = {"methodConfig": [{"name": [{}], "retryPolicy": {
        "maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]}}]}

    def one(_):
        channel = grpc.insecure_channel(url, options=[
            ("grpc.service_config", json.dumps(config)), ("grpc.use_local_subchannel_pool", 1)])
        return lambda: channel.unary_unary("/Test/Call")(b"", timeout=silent or None)

    return f"grpcio {grpc.__version__}", one


LIBRARIES = {
    "legacy": lambda: aws("legacy", "sqs", "list_queues"),
    "legacy-dynamodb": lambda: aws("legacy", "dynamodb", "list_tables"),
    "standard": lambda: aws("standard", "sqs", "list_queues"),
    "standard-dynamodb": lambda: aws("standard", "dynamodb", "list_tables"),
    "new-standard": lambda: aws("standard", "sqs", "list_queues", "true"),
    "new-standard-dynamodb": lambda: aws("standard", "dynamodb", "list_tables", "true"),
    "urllib3": urllib3_of_three,
    "grpc": grpc_of_the_proposal,
}

version, make = LIBRARIES[name]()
works = [make(i) for i in range(calls)]


def run(work):
    try:
        work()
    except Exception:  # every call fails: that is the point
        pass


threads = [threading.Thread(target=run, args=(work,)) for work in works]
for thread in threads:
    thread.start()
    time.sleep(0.02)
for thread in threads:
    thread.join()
print(json.dumps({"version": version}))
