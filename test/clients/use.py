"""Uses the generated Python client: uploads the file named by FILE, makes a job of it, waits for its end, prints its outputs."""
import base64, json, os, time

from splicepoint_client import AuthenticatedClient
from splicepoint_client.api.jobs import create_job, get_job, list_jobs
from splicepoint_client.api.uploads import create_upload
from splicepoint_client.models import Created, Error, Job, JobRead, JobList, Upload
from splicepoint_client.types import File

key = base64.b64encode(f"{os.environ['KEY']}:".encode()).decode()
client = AuthenticatedClient(base_url=os.environ["BASE"], token=key, prefix="Basic", raise_on_unexpected_status=True)

with open(os.environ["FILE"], "rb") as file:
    upload = create_upload.sync(client=client, body=File(payload=file), name="film.mp4")
assert isinstance(upload, Upload), upload

refused = create_job.sync(client=client, body=Job.from_dict({**json.loads(os.environ["JOB"]), "input": "999999"}))
assert isinstance(refused, Error) and refused.error.code.value == "invalid_request", refused

created = create_job.sync(client=client, body=Job.from_dict({**json.loads(os.environ["JOB"]), "input": upload.input_}))
assert isinstance(created, Created), created

while True:
    read = get_job.sync(str(created.field_auto_generated_id), client=client)
    assert isinstance(read, JobRead), read
    if read.status.job_completed:
        break
    time.sleep(0.5)
assert read.status.error is None, read.status.error

listed = list_jobs.sync(client=client, limit=10)
assert isinstance(listed, JobList) and listed.jobs[0].job_id == created.job_id
print(json.dumps([output.path for output in read.status.outputs]))
